"""`python -m attn_xl` is `attn-xl`."""

from attn_xl.cli.main import main

main()
