"""Strategies that learn L2 penalties on a loss: mm, evidence, direct and implicit gradient."""
