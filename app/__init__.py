"""What a person touches: window, pages, views, worker and command line."""
