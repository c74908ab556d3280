"""Views of an average over models: members, weights, disagreement."""
