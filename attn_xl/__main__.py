"""`python -m attn_xl` is `attn-xl`."""

from .cli import main

main()
