#include "http/client_request.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace layard::http {
namespace {

const Upstream kUpstream{false, "model.example", 8080, "/v1"};

std::string bytes_of(const ClientRequest& request, const ClientOptions& options = ClientOptions()) {
  const auto head = write_request_head(request, kUpstream, options);
  if (const auto* bad = std::get_if<ClientError>(&head)) {
    EXPECT_EQ(bad->fault, ClientFault::kRequest);
    EXPECT_FALSE(bad->request_sent);
    return "refused: " + bad->message;
  }
  return std::get<RequestHeadBytes>(head).bytes;
}

BodySource empty_source() {
  return []() -> Task<BodyPiece> { co_return BodyPiece{}; };
}

TEST(HttpClientRequest, WritesHostAndFramingItself) {
  ClientRequest request;
  request.method = "POST";
  request.target = "/chat?x=1";
  request.body = "hello";
  for (const char* own : {"Host", "content-length", "Transfer-Encoding", "Connection", "TE",
                          "Keep-Alive", "Upgrade", "Expect", "Trailer", "Proxy-Connection"}) {
    request.fields.add(own, "other");
  }
  request.fields.add("Authorization", "Bearer x");
  EXPECT_EQ(bytes_of(request),
            "POST /v1/chat?x=1 HTTP/1.1\r\nHost: model.example:8080\r\nAuthorization: Bearer x\r\n"
            "Content-Length: 5\r\n\r\n");
}

TEST(HttpClientRequest, FramesByWhatIsKnown) {
  ClientRequest request;
  EXPECT_EQ(bytes_of(request).find("Content-Length"), std::string::npos);
  request.method = "POST";
  EXPECT_NE(bytes_of(request).find("Content-Length: 0\r\n"), std::string::npos);
  request.source = empty_source();
  EXPECT_NE(bytes_of(request).find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(bytes_of(request).find("Content-Length"), std::string::npos);
  request.source_bytes = 7;
  EXPECT_NE(bytes_of(request).find("Content-Length: 7\r\n"), std::string::npos);
  EXPECT_EQ(bytes_of(request).find("Transfer-Encoding"), std::string::npos);
}

TEST(HttpClientRequest, SaysCloseWhenNothingIsKept) {
  ClientOptions options;
  EXPECT_EQ(bytes_of({}, options).find("Connection"), std::string::npos);
  options.kept_per_upstream_max = 0;
  EXPECT_NE(bytes_of({}, options).find("Connection: close\r\n"), std::string::npos);
}

TEST(HttpClientRequest, RefusesWhatCouldBecomeAnotherRequest) {
  const auto refused = [](auto change) {
    ClientRequest request;
    change(request);
    return bytes_of(request).starts_with("refused: ");
  };
  EXPECT_TRUE(refused([](auto& r) { r.method = "GET /x"; }));
  EXPECT_TRUE(refused([](auto& r) { r.method = ""; }));
  EXPECT_TRUE(refused([](auto& r) { r.method = "CONNECT"; }));
  for (const char* target : {"", "x", "http://a/", "/a b", "/a\r\nX: y", "/#x", "/\xc3\xa9", "*"}) {
    EXPECT_TRUE(refused([&](auto& r) { r.target = target; })) << target;
  }
  for (const char* value : {"a\r\nB: c", "a\nb", "a\rb", "a\x01", " a", "a "}) {
    EXPECT_TRUE(refused([&](auto& r) { r.fields.add("A", value); })) << value;
  }
  EXPECT_TRUE(refused([](auto& r) { r.fields.add("A", std::string("a\0b", 3)); }));
  for (const char* name : {"", "A B", "A:", "A\r\nB"}) {
    EXPECT_TRUE(refused([&](auto& r) { r.fields.add(name, "v"); })) << name;
  }
  EXPECT_FALSE(refused([](auto& r) { r.fields.add("A", "\xc3\xa9\tb"); }));
}

TEST(HttpClientRequest, NeverRepeatsAValue) {
  ClientRequest request;
  request.fields.add("Authorization", "secret\r\n");
  const auto message = bytes_of(request);
  EXPECT_EQ(message.find("secret"), std::string::npos);
  EXPECT_NE(message.find("Authorization"), std::string::npos);
}

TEST(HttpClientRequest, Bounds) {
  ClientRequest request;
  request.target = "/" + std::string(8 * 1024 - 4, 'a');
  EXPECT_FALSE(bytes_of(request).starts_with("refused"));
  request.target += 'a';
  EXPECT_TRUE(bytes_of(request).starts_with("refused"));
  ClientRequest large;
  large.fields.add("A", std::string(64 * 1024, 'a'));
  EXPECT_TRUE(bytes_of(large).starts_with("refused"));
}

TEST(HttpClientRequest, OnlyHarmlessRequestsWithoutBodiesAreRepeatable) {
  ClientRequest request;
  for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
    request.method = method;
    EXPECT_TRUE(is_repeatable(request)) << method;
  }
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "get"}) {
    request.method = method;
    EXPECT_FALSE(is_repeatable(request)) << method;
  }
  request.method = "GET";
  request.body = "x";
  EXPECT_FALSE(is_repeatable(request));
  request.body.clear();
  request.source = empty_source();
  EXPECT_FALSE(is_repeatable(request));
}

TEST(HttpClientRequest, FaultsHaveNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kClientFaults; ++i) {
    names.insert(client_fault_name(static_cast<ClientFault>(i)));
  }
  EXPECT_EQ(names.size(), kClientFaults);
  EXPECT_EQ(client_fault_name(ClientFault::kRequest), "request");
  EXPECT_EQ(client_fault_name(ClientFault::kHeadTimeout), "head_timeout");
  EXPECT_EQ(client_fault_name(ClientFault::kCancelled), "cancelled");
}

}  // namespace
}  // namespace layard::http
