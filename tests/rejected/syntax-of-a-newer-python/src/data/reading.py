def kind(value):
    match value:
        case 0:
            return "none"
    return "some"
