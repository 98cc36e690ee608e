def queries_data(run):
    return ""
