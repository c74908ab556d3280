"""Dialogs: help, preferences, which column to predict, which Optuna studies to import."""
