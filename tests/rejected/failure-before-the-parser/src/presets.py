def first():
    return PRESETS[0]
