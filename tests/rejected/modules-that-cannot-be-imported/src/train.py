import broken
import crashing
import drawing
import mapped
import sleeping

print(broken, crashing, drawing, mapped, sleeping)


def plot():
    import plotting

    return plotting
