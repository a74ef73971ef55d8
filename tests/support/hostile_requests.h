/// Requests that two readers could understand differently, or that are broken, with what must
/// become of each: the same kinds as shared/bug-inputs/http, for a checkout without that folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace layard::testing {

struct HostileRequest {
  std::string_view name;
  std::string bytes;
  bool answered;  // 200; else one 4xx, the connection closed, and nothing after it interpreted
};

/// A request hidden behind the first; it must never be seen.
inline constexpr std::string_view kHiddenRequest =
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Hidden: 1\r\n\r\n";

inline std::string hostile_post(std::string_view fields, std::string_view body) {
  return "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n" + std::string(fields) + "\r\n" +
         std::string(body);
}

inline std::string then_hidden(std::string bytes) { return std::move(bytes += kHiddenRequest); }

inline std::vector<HostileRequest> hostile_framing() {
  constexpr std::string_view kChunks = "2\r\n{}\r\n0\r\n\r\n";
  const auto post = hostile_post;
  return {
      {"plain length", post("Content-Length: 2\r\n", "{}"), true},
      {"plain chunks", post("Transfer-Encoding: chunked\r\n", kChunks), true},
      {"length and chunks",
       then_hidden(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", kChunks)), false},
      {"chunks and length 0",
       then_hidden(post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", kChunks)), false},
      {"two lengths", then_hidden(post("Content-Length: 2\r\nContent-Length: 0\r\n", "{}")), false},
      {"two equal lengths", post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), false},
      {"list of lengths", post("Content-Length: 2, 2\r\n", "{}"), false},
      {"negative length", post("Content-Length: -1\r\n", "{}"), false},
      {"length with plus", post("Content-Length: +2\r\n", "{}"), false},
      {"length over 2^64", post("Content-Length: 18446744073709551617\r\n", "x"), false},
      {"length over 2^63", post("Content-Length: 9223372036854775808\r\n", "x"), false},
      {"length in hex", post("Content-Length: 0x2\r\n", "{}"), false},
      {"empty length", post("Content-Length:\r\n", ""), false},
      {"length with inner space", post("Content-Length: 1 2\r\n", "{}"), false},
      {"chunks not last", then_hidden(post("Transfer-Encoding: chunked, gzip\r\n", "")), false},
      {"chunks after gzip", then_hidden(post("Transfer-Encoding: gzip, chunked\r\n", "")), false},
      {"identity transfer", then_hidden(post("Transfer-Encoding: identity\r\n", "")), false},
      {"chunks twice",
       then_hidden(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", kChunks)),
       false},
      {"chunks quoted", then_hidden(post("Transfer-Encoding: \"chunked\"\r\n", kChunks)), false},
      {"chunks with a tab inside", then_hidden(post("Transfer-Encoding: chu\tnked\r\n", "")),
       false},
      {"chunks with vertical tab",
       then_hidden(post("Transfer-Encoding: \x0b"
                        "chunked\r\n",
                        "")),
       false},
      {"space before colon",
       then_hidden(post("Transfer-Encoding : chunked\r\nContent-Length: 2\r\n", "{}")), false},
      {"chunks on HTTP/1.0",
       then_hidden("POST /v1/echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                   std::string(kChunks)),
       false},
  };
}

inline std::vector<HostileRequest> hostile_chunks() {
  const auto post = [](std::string_view body) {
    return hostile_post("Transfer-Encoding: chunked\r\n", body);
  };
  return {
      {"size of 17 digits", then_hidden(post("10000000000000001\r\nx\r\n0\r\n\r\n")), false},
      {"size of 16 digits", then_hidden(post("ffffffffffffffff\r\nx\r\n0\r\n\r\n")), false},
      {"size 0x2", post("0x2;\r\n{}\r\n0\r\n\r\n"), false},
      {"size with sign", post("+2\r\n{}\r\n0\r\n\r\n"), false},
      {"size with space before", post(" 2\r\n{}\r\n0\r\n\r\n"), false},
      {"size with space behind", post("2 \r\n{}\r\n0\r\n\r\n"), false},
      {"no size", post("\r\n{}\r\n0\r\n\r\n"), false},
      {"extension of 64 KiB",
       then_hidden(post("2;" + std::string(65536, 'a') + "\r\n{}\r\n0\r\n\r\n")), false},
      {"extension", post("2;a=b\r\n{}\r\n0;c\r\n\r\n"), true},
      {"extension with LF", then_hidden(post("2;a\n{}\r\n0\r\n\r\n")), false},
      {"no CRLF after data", then_hidden(post("2\r\n{}XX0\r\n\r\n")), false},
      {"LF only", then_hidden(post("2\n{}\n0\n\n")), false},
      {"CR only", then_hidden(post("2\r{}\r0\r\r")), false},
      {"trailer", post("2\r\n{}\r\n0\r\nContent-Length: 9\r\nX-A: 1\r\n\r\n"), true},
      {"trailer without colon", then_hidden(post("2\r\n{}\r\n0\r\nX-A\r\n\r\n")), false},
      {"trailer of 64 KiB", post("2\r\n{}\r\n0\r\nX-A: " + std::string(65536, 'a') + "\r\n\r\n"),
       false},
  };
}

inline std::vector<HostileRequest> hostile_heads() {
  const auto get = [](std::string_view line, std::string_view fields) {
    return std::string(line) + "\r\n" + std::string(fields) + "\r\n";
  };
  constexpr std::string_view kLine = "GET /health HTTP/1.1";
  constexpr std::string_view kHost = "Host: 127.0.0.1\r\n";
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "X-A: 1\r\n";
  const auto with = [&](std::string_view field) {
    return get(kLine, std::string(kHost).append(field));
  };
  return {
      {"plain", get(kLine, kHost), true},
      {"empty line first", "\r\n" + get(kLine, kHost), true},
      {"HTTP/1.0 without host", get("GET /health HTTP/1.0", ""), true},
      {"no host", get(kLine, ""), false},
      {"two hosts", with("Host: example.org\r\n"), false},
      {"two hosts on HTTP/1.0", get("GET /health HTTP/1.0", "Host: a\r\nHost: a\r\n"), false},
      {"host with user", get(kLine, "Host: a@b\r\n"), false},
      {"empty host", get(kLine, "Host:\r\n"), false},
      {"line without colon", with("X-A\r\n"), false},
      {"empty name", with(": 1\r\n"), false},
      {"name with space", with("X A: 1\r\n"), false},
      {"folded line", with("X-A: 1\r\n 2\r\n"), false},
      {"folded first line", get(kLine, " X-A: 1\r\nHost: 127.0.0.1\r\n"), false},
      {"NUL", with(std::string_view("X-A: a\0b\r\n", 10)), false},
      {"DEL", with("X-A: a\x7f\r\n"), false},
      {"bare CR", with("X-A: a\rb\r\n"), false},
      {"bare LF", with("X-A: a\nX-B: b\r\n"), false},
      {"1000 lines", with(many), false},
      {"64 KiB", with("X-A: " + std::string(65536, 'a') + "\r\n"), false},
      {"target of 9 KiB", get("GET /" + std::string(9000, 'a') + " HTTP/1.1", kHost), false},
      {"absolute target", get("GET http://127.0.0.1/health HTTP/1.1", kHost), false},
      {"authority target", get("CONNECT 127.0.0.1:80 HTTP/1.1", kHost), false},
      {"asterisk target", get("OPTIONS * HTTP/1.1", kHost), false},
      {"target with fragment", get("GET /health#a HTTP/1.1", kHost), false},
      {"target beyond ASCII", get("GET /\xc3\xa9 HTTP/1.1", kHost), false},
      {"two spaces", get("GET  /health HTTP/1.1", kHost), false},
      {"tab", get("GET\t/health HTTP/1.1", kHost), false},
      {"no version", get("GET /health", kHost), false},
      {"HTTP/2.0", get("PRI * HTTP/2.0", ""), false},
      {"HTTP/1.2", get("GET /health HTTP/1.2", kHost), false},
      {"lower-case version", get("GET /health http/1.1", kHost), false},
      {"method of no token", get("GE(T /health HTTP/1.1", kHost), false},
      {"upgrade", with("Connection: Upgrade\r\nUpgrade: h2c\r\n"), false},
      {"unknown expectation", with("Expect: 200-ok\r\n"), false},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), false},
      {"two empty lines first", "\r\n\r\n" + get(kLine, kHost), false},
  };
}

inline std::vector<HostileRequest> hostile_requests() {
  auto all = hostile_framing();
  for (auto& more : {hostile_chunks(), hostile_heads()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace layard::testing
