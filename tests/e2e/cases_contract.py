"""/openapi.json against what the server does, by schemathesis."""

from harness import case
from serving import run_schemathesis, serving


@case
def server_description_is_true(world):
    with serving(world) as server:
        run_schemathesis(world, server.url, 30)
