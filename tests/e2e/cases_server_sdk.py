"""Other people's clients against `layard serve`: the unmodified typesafe-sdk of Python
(tests/e2e/clients/sdk.py) and @typesafe-ai/sdk of Node.js (sdk.mjs)."""

from harness import case
from serving import run_client, run_node_client, serving, shared_serving

ON_ONE_SERVER = "sync,prefix,several,zstd,errors,image,models,retries"


@case
def sdk_of_python(world):
    """One process of each: importing the package takes longer than most of its cases."""
    with shared_serving(world) as server:
        run_client(world, "sdk.py", ON_ONE_SERVER, server.url)


@case
def sdk_retries_when_busy(world):
    with serving(world, "--queue-requests-max", "1", "--batch-requests-max", "1") as server:
        run_client(world, "sdk.py", "busy", server.url)


@case
def sdk_key(world):
    with serving(world, environment={"LAYARD_API_KEY": "k3y-of-tests"}) as server:
        run_client(world, "sdk.py", "key", server.url, "k3y-of-tests")


@case
def sdk_of_javascript(world):
    """Answers, many at once, models, errors, retries."""
    with shared_serving(world) as server:
        run_node_client(world, server.url)
