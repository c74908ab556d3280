"""Icons, help texts, translations, sample data and theme."""
