"""The official Python client against `phileas mcp`, in each of its modes. Usage: client.py PHILEAS"""

import argparse
import asyncio
import os

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


async def main(program, mode):
    server = StdioServerParameters(command=program, args=["mcp"], env=dict(os.environ))
    async with Client(stdio_client(server), mode=mode) as client:
        assert client.protocol_version == REVISIONS[mode], client.protocol_version
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"jules_create_job", "jules_wait_for_event", "explain"} <= tools, tools
        made = await client.call_tool(
            "jules_create_job",
            {"repo": os.environ["WORLD_REPOSITORY"], "prompt": f"Asked by {mode}."},
        )
        assert not made.is_error, made
        job = made.structured_content["job_id"]
        seen = await client.call_tool("jules_get_job", {"job_id": job})
        assert seen.structured_content["repo"] == os.environ["WORLD_REPOSITORY"], seen
        wrong = await client.call_tool("jules_get_job", {"job_id": "x"})
        assert wrong.is_error and wrong.content[0].text, wrong
        assert any(str(one.uri) == f"jules://jobs/{job}" for one in (await client.list_resources()).resources)
        read = await client.read_resource("jules://jobs")
        assert job in read.contents[0].text, read
        prompt = await client.get_prompt("review_completed_job", {"job_id": job})
        assert job in prompt.messages[0].content.text, prompt
        print(f"{mode}: {client.protocol_version}, {len(tools)} tools, job {job}")


words = argparse.ArgumentParser(description=__doc__)
words.add_argument("phileas")
program = words.parse_args().phileas
for chosen in REVISIONS:
    asyncio.run(asyncio.wait_for(main(program, chosen), 180))
