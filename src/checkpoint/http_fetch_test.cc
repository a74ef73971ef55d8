// Redirects and tokens: who may be asked, and who learns the secret.
#include "checkpoint/http_fetch.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "hub/fake_hub.h"

namespace layard::checkpoint {
namespace {

using testing::FakeHub;
using testing::redirect_to;
using testing::reply_with;

class Collector final : public HttpReceiver {
 public:
  Status on_head(const HttpHead& head) override {
    ++heads;
    last = head;
    return {};
  }
  Status on_body(std::span<const std::byte> bytes) override {
    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  int heads = 0;
  HttpHead last;
  std::string body;
};

struct Fetched {
  HttpOutcome outcome;
  std::string body;
  int heads = 0;
};

Fetched fetch(const std::string& url, const HubOptions& options) {
  Collector collector;
  HttpOutcome outcome = http_fetch({url, 0, {}}, options, collector, {});
  return {std::move(outcome), collector.body, collector.heads};
}

HubOptions options_for(const FakeHub& hub) {
  HubOptions options;
  options.endpoint = hub.url();
  options.token = "hf_secret";
  options.stall_timeout_s = 1;
  return options;
}

TEST(HttpFetch, TokenGoesToTheEndpoint) {
  FakeHub hub;
  hub.serve("/file", "content");
  hub.script("/moved", {redirect_to("/file?x=1"), redirect_to(hub.url() + "/file")});
  const HubOptions options = options_for(hub);
  EXPECT_EQ(fetch(hub.url() + "/file", options).body, "content");
  for (int i = 0; i < 2; ++i) {
    const Fetched moved = fetch(hub.url() + "/moved", options);
    EXPECT_EQ(moved.body, "content");
    EXPECT_EQ(moved.heads, 1);
    EXPECT_EQ(moved.outcome.head.url, hub.url() + "/file");
  }
  for (const auto& request : hub.requests()) {
    EXPECT_EQ(request.header("authorization"), "Bearer hf_secret") << request.path;
    EXPECT_EQ(request.header("accept-encoding"), "identity");
    EXPECT_EQ(request.method, "GET");
  }
}

TEST(HttpFetch, TokenIsDroppedOnTheWayToAnotherHost) {
  FakeHub hub;
  FakeHub storage;
  const std::string by_name = "http://localhost:" + std::to_string(hub.port());
  hub.script("/file", {redirect_to(storage.url() + "/blob?signature=abc")});
  storage.serve("/blob", "content");
  // There and back again: the endpoint does not get it a second time either.
  hub.script("/again", {redirect_to(storage.url() + "/back")});
  storage.script("/back", {redirect_to(hub.url() + "/final")});
  hub.serve("/final", "final");
  // The same machine under another name is another host.
  hub.script("/alias", {redirect_to(by_name + "/aliased")});
  hub.serve("/aliased", "aliased");

  const HubOptions options = options_for(hub);
  EXPECT_EQ(fetch(hub.url() + "/file", options).body, "content");
  EXPECT_EQ(fetch(hub.url() + "/again", options).body, "final");
  EXPECT_EQ(fetch(hub.url() + "/alias", options).body, "aliased");
  ASSERT_EQ(storage.request_count(), 2U);
  for (const auto& request : storage.requests()) EXPECT_EQ(request.header("authorization"), "");
  for (const auto& request : hub.requests()) {
    const bool first =
        request.path == "/file" || request.path == "/again" || request.path == "/alias";
    EXPECT_EQ(request.header("authorization"), first ? "Bearer hf_secret" : "") << request.path;
  }
}

TEST(HttpFetch, RedirectsThatAreRefused) {
  for (const char* location :
       {"file:///etc/passwd", "http://example.invalid/x", "ftp://127.0.0.1/x",
        "gopher://127.0.0.1/x", "https://user:pass@127.0.0.1/x",
        "http://127.0.0.1.example.invalid/x", "http://10.0.0.1/x", "scp://127.0.0.1/x",
        "http://[fe80::1]/x", "//example.invalid/x", "http://bad host/", "javascript:alert(1)"}) {
    FakeHub hub;
    hub.script("/file", {redirect_to(location)});
    const Fetched fetched = fetch(hub.url() + "/file", options_for(hub));
    ASSERT_TRUE(fetched.outcome.error) << location;
    EXPECT_EQ(fetched.outcome.error->code, ErrorCode::kBackendUnavailable) << location;
    EXPECT_NE(fetched.outcome.error->message.find("redirects where no download may go"),
              std::string::npos)
        << location << fetched.outcome.error->message;
    EXPECT_FALSE(fetched.outcome.retryable);
    EXPECT_EQ(fetched.heads, 0);
    EXPECT_EQ(hub.request_count(), 1U);
  }
}

TEST(HttpFetch, RedirectsAreCounted) {
  FakeHub hub;
  const std::vector<testing::HubReply> loop(50, redirect_to("/loop"));
  hub.script("/loop", loop);
  const Fetched fetched = fetch(hub.url() + "/loop", options_for(hub));
  ASSERT_TRUE(fetched.outcome.error);
  EXPECT_NE(fetched.outcome.error->message.find("redirects more than 5 times"), std::string::npos);
  EXPECT_EQ(hub.request_count(), 6U);
  // Five are allowed.
  hub.script("/loop", std::vector<testing::HubReply>(5, redirect_to("/loop")));
  hub.serve("/loop", "there");
  EXPECT_EQ(fetch(hub.url() + "/loop", options_for(hub)).body, "there");
  // A redirect to nowhere leads back to itself and is counted as well.
  hub.script("/loop", std::vector<testing::HubReply>(50, reply_with(302, "", "")));
  EXPECT_TRUE(fetch(hub.url() + "/loop", options_for(hub)).outcome.error);
}

TEST(HttpFetch, AddressesThatAreRefused) {
  FakeHub hub;
  HubOptions options = options_for(hub);
  for (const char* url : {"http://example.invalid/x", "file:///etc/passwd", "no address", "",
                          "http://user@127.0.0.1/x"}) {
    const Fetched fetched = fetch(url, options);
    ASSERT_TRUE(fetched.outcome.error) << url;
    EXPECT_EQ(fetched.outcome.error->code, ErrorCode::kInvalidRequest) << url;
  }
  options.token = "two\r\nX-Injected: lines";
  const Fetched fetched = fetch(hub.url() + "/file", options);
  ASSERT_TRUE(fetched.outcome.error);
  EXPECT_EQ(fetched.outcome.error->code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(fetched.outcome.error->message.find("X-Injected"), std::string::npos);
  EXPECT_EQ(hub.request_count(), 0U);
}

TEST(HttpFetch, TroubleIsSortedIntoPassingAndLasting) {
  FakeHub hub;
  const HubOptions options = options_for(hub);
  for (const auto& [status, retryable] :
       {std::pair(400, false), std::pair(401, false), std::pair(404, false), std::pair(408, true),
        std::pair(429, true), std::pair(500, true), std::pair(503, true)}) {
    hub.script("/file", {reply_with(status, "", "body")});
    const Fetched fetched = fetch(hub.url() + "/file", options);
    ASSERT_TRUE(fetched.outcome.error) << status;
    EXPECT_EQ(fetched.outcome.retryable, retryable) << status;
    EXPECT_EQ(fetched.outcome.head.status, status);
    EXPECT_EQ(fetched.body, "");
  }
  std::string gone;
  {
    const FakeHub closed;
    gone = closed.url();
  }
  const Fetched fetched = fetch(gone + "/file", options);
  ASSERT_TRUE(fetched.outcome.error);
  EXPECT_TRUE(fetched.outcome.retryable);
  EXPECT_EQ(fetched.outcome.error->code, ErrorCode::kBackendUnavailable);
}

TEST(HttpFetch, EndlessHeadIsCutOff) {
  FakeHub hub;
  hub.script("/file", {[](const auto&, const auto&, testing::HubPeer& peer) {
               peer.send("HTTP/1.1 200 OK\r\n");
               const std::string line = "X-More: " + std::string(8000, 'x') + "\r\n";
               for (int i = 0; i < 100; ++i) peer.send(line);
               peer.hold();
             }});
  const Fetched fetched = fetch(hub.url() + "/file", options_for(hub));
  ASSERT_TRUE(fetched.outcome.error);
  EXPECT_EQ(fetched.heads, 0);
}

TEST(HttpFetch, MessagesHoldNoSignature) {
  FakeHub hub;
  hub.script("/file", {redirect_to("/blob?signature=topsecret")});
  const Fetched fetched = fetch(hub.url() + "/file", options_for(hub));
  ASSERT_TRUE(fetched.outcome.error);
  EXPECT_EQ(fetched.outcome.error->message.find("topsecret"), std::string::npos)
      << fetched.outcome.error->message;
}

// libcurl reads the proxy variables itself, exceptions included.
TEST(HttpFetch, ProxyVariables) {
  FakeHub proxy;
  const std::string url = "http://127.0.0.1:9/file";
  proxy.serve(url, "through the proxy");
  ASSERT_EQ(::setenv("http_proxy", proxy.url().c_str(), 1), 0);
  ASSERT_EQ(::setenv("no_proxy", "other.example", 1), 0);
  EXPECT_EQ(fetch(url, options_for(proxy)).body, "through the proxy");
  EXPECT_EQ(proxy.requests().back().header("authorization"),
            "");  // 127.0.0.1:9 is not the endpoint
  ASSERT_EQ(::setenv("no_proxy", "127.0.0.1,localhost", 1), 0);
  EXPECT_TRUE(fetch(url, options_for(proxy)).outcome.error);
  EXPECT_EQ(proxy.request_count(), 1U);
  ASSERT_EQ(::unsetenv("http_proxy"), 0);
}

TEST(HttpFetch, StoppedWhileWaiting) {
  FakeHub hub;
  hub.script("/file", {testing::stall_at_once()});
  HubOptions options = options_for(hub);
  options.stall_timeout_s = 60;
  std::stop_source stop;
  stop.request_stop();
  Collector collector;
  const HttpOutcome outcome =
      http_fetch({hub.url() + "/file", 0, {}}, options, collector, stop.get_token());
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace layard::checkpoint
