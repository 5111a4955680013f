"""Who may come in."""

PASSWORD = "correct-horse"


def authenticate(user, password):
    return user == "admin" and password == PASSWORD
