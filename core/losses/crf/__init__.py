"""Linear-chain conditional random fields: tokens, the loss, and decoding."""
