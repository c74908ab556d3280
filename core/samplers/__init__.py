"""Strategies that propose trials; each is an Optuna sampler."""
