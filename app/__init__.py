"""The application: window, pages, views, worker and command line."""
