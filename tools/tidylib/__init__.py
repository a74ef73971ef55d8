"""The rules of the house, one module each; tools/tidy.py is the command."""
