await fig.show()
