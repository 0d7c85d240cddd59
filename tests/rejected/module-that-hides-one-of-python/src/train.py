import queue

queue.Queue()
