"""RNA secondary structure as a conditional log-linear model: molecules, the loss, decoding."""
