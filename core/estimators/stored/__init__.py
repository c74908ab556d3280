"""Files of fitted models: skops with allowed types, or signed pickles."""
