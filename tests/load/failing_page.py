message = "the secret of this traceback"
raise ValueError(message)
