import argparse

import company_options

parser = argparse.ArgumentParser()
company_options.add_to(parser)
print(parser.parse_args())
