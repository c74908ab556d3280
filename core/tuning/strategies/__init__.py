"""The strategies, their options, and the registry of them."""
