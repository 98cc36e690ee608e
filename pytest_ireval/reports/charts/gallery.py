def charts_of(suite):
    return ()


def svg_of(chart, environment):
    return ""
