import asyncio

result = await asyncio.sleep(1)
