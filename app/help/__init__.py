"""The help: its pages, the glossary, and the same as HTML, without Qt."""
