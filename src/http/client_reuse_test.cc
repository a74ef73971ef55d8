// Which connections are kept for the next request, and when a request is sent again.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "http/client.h"
#include "support/fake_client.h"

namespace layard::http {
namespace {

using testing::kEmptyResponse;
using testing::run_into;

class HttpClientReuse : public testing::FakeClient {};

TEST_F(HttpClientReuse, ResponsesWithoutABodyFreeTheConnectionAtOnce) {
  ClientRequest head;
  head.method = "HEAD";
  send(head);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n");
  EXPECT_FALSE(response().has_body);
  EXPECT_EQ(client_->kept_connections(), 1U);
  EXPECT_EQ(piece(), "(end)");
  send();
  answer("HTTP/1.1 204 No\r\n\r\n");
  EXPECT_EQ(piece(), "(end)");
  send();
  answer("HTTP/1.1 304 No\r\nContent-Length: 50\r\n\r\n");
  EXPECT_EQ(piece(), "(end)");
  EXPECT_EQ(network_.dials, 1U);
}

TEST_F(HttpClientReuse, KeepsOnlyWhatIsCleanAndOpen) {
  const std::vector<std::string> not_kept = {
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
      std::string(kEmptyResponse) + "more",
  };
  for (std::size_t i = 0; i < not_kept.size(); ++i) {
    send();
    answer(not_kept[i], i);
    EXPECT_EQ(piece(), "(end)");
    EXPECT_EQ(client_->kept_connections(), 0U) << not_kept[i];
    EXPECT_TRUE(wire(i).closed);
  }
}

TEST_F(HttpClientReuse, AStaleKeptConnectionIsReplacedOnceForHarmlessRequests) {
  send();
  answer(kEmptyResponse);
  send();  // on the kept connection, which ends without an answer
  EXPECT_EQ(network_.dials, 1U);
  close();
  EXPECT_EQ(network_.dials, 2U);
  EXPECT_FALSE(result_);
  close(1);  // the fresh one too: that is the answer
  EXPECT_EQ(fault(), ClientFault::kConnectionLost);
  EXPECT_TRUE(error().request_sent);
  EXPECT_EQ(network_.dials, 2U);
}

TEST_F(HttpClientReuse, ABodyIsNeverSentTwice) {
  send();
  answer(kEmptyResponse);
  send(post("x"));
  EXPECT_EQ(network_.dials, 1U);
  close();
  EXPECT_EQ(fault(), ClientFault::kConnectionLost);
  EXPECT_TRUE(error().request_sent);
  EXPECT_EQ(network_.dials, 1U);
}

TEST_F(HttpClientReuse, ABodyGoesToAFreshConnectionWhenNothingOfItWasWritten) {
  send();
  answer(kEmptyResponse);
  wire().window_bytes = 0;
  send(post("x"));
  close();
  ASSERT_EQ(network_.dials, 2U);
  EXPECT_TRUE(wire(1).sent.ends_with("\r\n\r\nx"));
  answer(kEmptyResponse, 1);
  EXPECT_EQ(response().status, 200);
}

TEST_F(HttpClientReuse, APartOfAResponseIsAnAnswer) {
  send();
  answer(kEmptyResponse);
  send();
  answer("H");
  close();
  EXPECT_EQ(fault(), ClientFault::kConnectionLost);
  EXPECT_EQ(network_.dials, 1U);
}

TEST_F(HttpClientReuse, AFreshConnectionCanBeAskedFor) {
  send();
  answer(kEmptyResponse);
  ClientRequest request;
  request.fresh_connection = true;
  send(request);
  EXPECT_EQ(network_.dials, 2U);
  answer(kEmptyResponse, 1);
  EXPECT_EQ(client_->kept_connections(), 2U);
}

TEST_F(HttpClientReuse, ConnectionsAreBounded) {
  options_.connections_max = 1;
  send();
  auto first = std::move(result_);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  std::optional<ClientResult> second;
  run_into(client_->send(upstream_, {}), second);
  loop_.run();
  ASSERT_TRUE(second);
  EXPECT_EQ(std::get<ClientError>(*second).fault, ClientFault::kLimit);
}

}  // namespace
}  // namespace layard::http
