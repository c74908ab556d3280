"""McInerney 2017."""
