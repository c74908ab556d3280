"""Files of rows: CSV and LIBSVM, how they are written, and where they are wrong."""
