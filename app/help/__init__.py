"""The help: pages, glossary, and HTML, without Qt."""
