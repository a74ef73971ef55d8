#include "server/access.h"

#include <gtest/gtest.h>

namespace layard::server {
namespace {

http::Fields fields(std::initializer_list<http::Field> list) {
  http::Fields out;
  for (const http::Field& field : list) out.add(field.name, field.value);
  return out;
}

int status(const std::optional<Fault>& fault) { return fault.has_value() ? fault->status : 200; }

TEST(ServerAccess, HostOfALoopbackServer) {
  const Access access(true, "");
  const auto check = [&](const char* host, int expected) {
    EXPECT_EQ(status(access.check_host(fields({{"Host", host}}))), expected) << host;
  };
  check("127.0.0.1:8642", 200);
  check("LocalHost:8642", 200);
  check("[::1]:80", 200);
  check("localhost", 200);
  check("evil.example:8642", 421);
  check("127.0.0.1:port", 421);
  check("::1", 421);
  check("user@localhost", 421);
  EXPECT_EQ(access.check_host({})->detail, "this server answers loopback requests only");
  EXPECT_EQ(status(Access(false, "key").check_host(fields({{"Host", "models.example"}}))), 200);
}

TEST(ServerAccess, Origin) {
  const Access access(true, "");
  const auto check = [&](const char* host, const char* origin, int expected) {
    EXPECT_EQ(status(access.check_origin(fields({{"Host", host}, {"Origin", origin}}))), expected)
        << host << " " << origin;
  };
  check("localhost:8642", "http://localhost:8642", 200);
  check("LOCALHOST:8642", "http://localhost:8642", 200);
  check("models.example", "https://models.example", 200);
  check("models.example:443", "https://models.example", 200);
  check("localhost:8642", "http://localhost:8643", 403);
  check("localhost:8642", "http://localhost", 403);
  check("localhost:8642", "http://127.0.0.1:8642", 403);
  check("localhost:8642", "null", 403);
  check("localhost:8642", "", 403);
  check("localhost:8642", "http://localhost:8642.evil.example", 403);
  check("localhost:8642", "file://localhost:8642", 403);
  EXPECT_EQ(status(access.check_origin(fields({{"Host", "localhost"}}))), 200);
}

TEST(ServerAccess, Bearer) {
  const Access access(false, "key-1");
  const auto check = [&](const char* value, int expected) {
    EXPECT_EQ(status(access.check_bearer(fields({{"Authorization", value}}))), expected) << value;
  };
  check("Bearer key-1", 200);
  check("bearer key-1", 200);
  check("Bearer key-2", 401);
  check("Bearer key-1x", 401);
  check("Bearer key-", 401);
  check("Bearer ", 401);
  check("Basic key-1", 401);
  check("key-1", 401);
  EXPECT_EQ(access.check_bearer({})->detail, "invalid or missing bearer token");
  EXPECT_EQ(status(Access(true, "").check_bearer(fields({{"Authorization", "Bearer any"}}))), 200);
}

TEST(ServerAccess, ClientHoldsNoSecret) {
  http::Request a;
  a.peer_address = "127.0.0.1";
  a.fields.add("Authorization", "Bearer one-secret");
  http::Request b = a;
  b.fields.set("Authorization", "Bearer two-secret");
  const Access open(true, "");
  EXPECT_EQ(open.client_of(a), open.client_of(a));
  EXPECT_NE(open.client_of(a), open.client_of(b));
  EXPECT_EQ(open.client_of(a).find("secret"), std::string::npos);
  // Behind a key all tokens are that key, and a wrong one must not make a new client.
  const Access keyed(false, "one-secret");
  EXPECT_EQ(keyed.client_of(a), keyed.client_of(b));
}

}  // namespace
}  // namespace layard::server
