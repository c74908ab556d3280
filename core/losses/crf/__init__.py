"""Linear-chain conditional random fields: tokens, the loss, and decoding."""

# What prediction needs, in an order in which their sources can stand in one script.
PREDICTION_MODULES = ("core.losses.crf.encoding", "core.losses.crf.chain")
