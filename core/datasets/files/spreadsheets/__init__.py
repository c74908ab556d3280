"""Workbooks of spreadsheet programs: xlsx and ods."""
