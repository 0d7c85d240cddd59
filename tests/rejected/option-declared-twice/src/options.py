def add_options(parser):
    parser.add_argument("--lr", type=float)
