SIZE = undefined
