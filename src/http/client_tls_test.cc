#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>

#include "http/client.h"
#include "support/client_world.h"
#include "support/scripted_server.h"
#include "support/temp_dir.h"
#include "support/test_authority.h"

namespace layard::http {
namespace {

using testing::ClientWorld;
using testing::HeldResult;
using testing::Identity;
using testing::IdentityOptions;
using testing::make_identity;
using testing::ScriptedServer;
using testing::ServedConnection;
using testing::TlsServerSide;

/// An authority in a ca_file, and a server that shows one certificate.
class HttpClientTls : public ::testing::Test {
 protected:
  HttpClientTls() {
    std::signal(SIGPIPE, SIG_IGN);  // the server's side writes through OpenSSL's own sockets
    authority_.write_certificate(ca_file_);
  }
  Identity issue(const std::string& names, long ends_in_s = 3600) {
    IdentityOptions options;
    options.common_name = "server";
    options.names = names;
    options.begins_in_s = -7200;
    options.ends_in_s = ends_in_s;
    return make_identity(options, &authority_);
  }

  struct Outcome {
    int status = 0;
    std::string body;
    std::optional<ClientFault> fault;       // of the head
    std::optional<ClientFault> body_fault;  // of the body
    std::string message;
    std::string server_name;
    std::string request;
  };

  // One request to a server with that certificate.
  Outcome ask(const std::string& host, const Identity& identity, bool says_end = true,
              const std::string& response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
              int version_max = TLS1_3_VERSION) {
    Outcome outcome;
    {
      ScriptedServer server([&](ServedConnection& connection, std::size_t) {
        TlsServerSide tls(connection.socket(), identity, version_max);
        if (!tls.agreed()) return;
        outcome.server_name = tls.server_name();
        outcome.request = tls.receive_head();
        if (outcome.request.empty()) return;
        tls.send(response);
        if (says_end) tls.say_end();
      });
      TlsOptions options;
      options.ca_file = ca_file_;
      ClientWorld world({}, options);
      const auto held = world.send({true, host, server.port(), ""});
      if (const auto* error = std::get_if<ClientError>(&**held)) {
        outcome.fault = error->fault;
        outcome.message = error->message;
        EXPECT_FALSE(error->request_sent);
      } else {
        outcome.status = std::get<ClientResponse>(**held).status;
        const auto all = world.read_all(held);
        outcome.body = all.bytes;
        outcome.body_fault = all.fault;
      }
    }
    return outcome;
  }

  layard::testing::TempDir dir_;
  std::string ca_file_ = (dir_.path() / "ca.pem").string();
  Identity authority_ = make_identity({});
};

TEST_F(HttpClientTls, AcceptsTheRightNameAndSaysIt) {
  const auto outcome = ask("localhost", issue("DNS:localhost"));
  EXPECT_EQ(outcome.status, 200) << outcome.message;
  EXPECT_EQ(outcome.body, "hi");
  EXPECT_EQ(outcome.server_name, "localhost");
  EXPECT_NE(outcome.request.find("Host: localhost:"), std::string::npos);
}

TEST_F(HttpClientTls, AcceptsAnAddressThatTheCertificateNames) {
  const auto outcome = ask("127.0.0.1", issue("IP:127.0.0.1"));
  EXPECT_EQ(outcome.status, 200) << outcome.message;
  EXPECT_EQ(outcome.server_name, "");
}

TEST_F(HttpClientTls, AcceptsTls12) {
  const auto outcome = ask("localhost", issue("DNS:localhost"), true,
                           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", TLS1_2_VERSION);
  EXPECT_EQ(outcome.status, 200) << outcome.message;
}

TEST_F(HttpClientTls, RefusesTls11) {
  const auto outcome = ask("localhost", issue("DNS:localhost"), true, "", TLS1_1_VERSION);
  EXPECT_EQ(outcome.fault, ClientFault::kTls);
}

TEST_F(HttpClientTls, RefusesOtherNames) {
  for (const char* names : {"DNS:other.example", "DNS:local*", "IP:127.0.0.1", "IP:127.0.0.2"}) {
    const auto outcome = ask("localhost", issue(names));
    EXPECT_EQ(outcome.fault, ClientFault::kTls) << names;
    EXPECT_NE(outcome.message.find("localhost"), std::string::npos) << outcome.message;
    EXPECT_EQ(outcome.request, "");
  }
  EXPECT_EQ(ask("127.0.0.1", issue("DNS:localhost")).fault, ClientFault::kTls);
  EXPECT_EQ(ask("127.0.0.1", issue("DNS:127.0.0.1")).fault, ClientFault::kTls);
}

TEST_F(HttpClientTls, RefusesACommonNameBesideOtherNames) {
  IdentityOptions options;
  options.common_name = "localhost";
  options.names = "DNS:other.example";
  const auto outcome = ask("localhost", make_identity(options, &authority_));
  EXPECT_EQ(outcome.fault, ClientFault::kTls);
}

TEST_F(HttpClientTls, RefusesWhatHasExpired) {
  const auto outcome = ask("localhost", issue("DNS:localhost", -60));
  EXPECT_EQ(outcome.fault, ClientFault::kTls);
  EXPECT_NE(outcome.message.find("expired"), std::string::npos) << outcome.message;
  EXPECT_NE(outcome.message.find("localhost"), std::string::npos) << outcome.message;
}

TEST_F(HttpClientTls, RefusesWhatSignedItself) {
  IdentityOptions options;
  options.names = "DNS:localhost";
  const auto outcome = ask("localhost", make_identity(options));
  EXPECT_EQ(outcome.fault, ClientFault::kTls);
  EXPECT_NE(outcome.message.find("self"), std::string::npos) << outcome.message;
}

TEST_F(HttpClientTls, RefusesAnotherAuthority) {
  IdentityOptions options;
  options.common_name = "somebody";
  const auto other = make_identity(options);
  options.common_name = "server";
  options.names = "DNS:localhost";
  EXPECT_EQ(ask("localhost", make_identity(options, &other)).fault, ClientFault::kTls);
}

TEST_F(HttpClientTls, TheSystemsAuthoritiesDoNotKnowThisOne) {
  const auto identity = issue("DNS:localhost");
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    const TlsServerSide tls(connection.socket(), identity);
  });
  ClientWorld world;
  const auto held = world.send({true, "localhost", server.port(), ""});
  ASSERT_TRUE(std::holds_alternative<ClientError>(**held));
  EXPECT_EQ(std::get<ClientError>(**held).fault, ClientFault::kTls);
}

TEST_F(HttpClientTls, ABodyUntilTheEndNeedsTheAlert) {
  const auto identity = issue("DNS:localhost");
  const std::string response = "HTTP/1.1 200 OK\r\n\r\nall of it";
  const auto whole = ask("localhost", identity, true, response);
  EXPECT_EQ(whole.body, "all of it");
  EXPECT_EQ(whole.body_fault, std::nullopt);
  const auto cut = ask("localhost", identity, false, response);
  EXPECT_EQ(cut.body, "all of it");
  EXPECT_EQ(cut.body_fault, ClientFault::kCutShort);
}

TEST_F(HttpClientTls, ConnectionsAreUsedAgain) {
  const auto identity = issue("DNS:localhost");
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    TlsServerSide tls(connection.socket(), identity);
    while (!tls.receive_head().empty()) tls.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  TlsOptions options;
  options.ca_file = ca_file_;
  ClientWorld world({}, options);
  for (int i = 0; i < 5; ++i) {
    const auto held = world.send({true, "localhost", server.port(), ""});
    EXPECT_TRUE(std::holds_alternative<ClientResponse>(**held));
  }
  EXPECT_EQ(server.accepted(), 1U);
}

}  // namespace
}  // namespace layard::http
