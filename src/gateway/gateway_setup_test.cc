#include "gateway/gateway_setup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/policy_setup.h"
#include "support/temp_dir.h"
#include "support/test_authority.h"

namespace layard::gateway {
namespace {

using testing::read_setup;
using testing::SetupParts;
using Names = std::vector<std::string>;

// A file of the 1bit router.
constexpr const char* kOneBit =
    R"({"min_confidence": 0.16, "default": "vulkan",
        "classes": {"code": {"device": "vulkan"}, "long_doc": {"device": "rocm"}}})";

// A file with `version`; `members`: of the device gpu0, one a line.
std::string policy(const std::string& members) {
  std::string out =
      "version: 1\ndefault: gpu0\nclasses:\n  code: {device: gpu0}\n"
      "devices:\n  gpu0:\n    url: http://127.0.0.1:9001\n";
  std::istringstream lines(members);
  for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
  return out;
}

void check_refused(const SetupParts& parts, ErrorCode code, const std::string& message) {
  const auto setup = read_setup(parts);
  ASSERT_FALSE(setup.ok()) << message;
  EXPECT_EQ(setup.error().code, code) << setup.error().message;
  EXPECT_NE(setup.error().message.find(message), std::string::npos) << setup.error().message;
  EXPECT_EQ(setup.error().message.find("secret"), std::string::npos) << setup.error().message;
}

TEST(GatewaySetup, AOneBitFileWithBackends) {
  const auto both =
      read_setup({kOneBit, {"rocm=http://127.0.0.1:9002", "vulkan=http://127.0.0.1:9001/v"}})
          .value();
  EXPECT_EQ(both->device_names(), (Names{"rocm", "vulkan"}));
  EXPECT_TRUE(both->warnings.empty());
  EXPECT_EQ(both->source, "/policy.yaml");
  EXPECT_EQ(both->hash.size(), 64U);
  EXPECT_GT(both->loaded_ms, 1'600'000'000'000);
  ASSERT_EQ(both->links.size(), 2U);
  EXPECT_EQ(both->links[0].upstream.origin(), "http://127.0.0.1:9002");
  EXPECT_EQ(both->links[1].upstream.path, "/v");
  EXPECT_FALSE(both->forced_device.has_value());
  ASSERT_EQ(both->fleet->view(0).size(), 2U);
  EXPECT_EQ(both->fleet->view(0)[1].name, "vulkan");

  const auto one = read_setup({kOneBit, {"rocm=http://127.0.0.1:9002"}}).value();
  EXPECT_EQ(one->device_names(), (Names{"rocm"}));
  EXPECT_EQ(one->warnings, (Names{"vulkan is not a candidate: it has no url"}));

  const auto other = read_setup({kOneBit, {"spare=http://127.0.0.1:9003"}}).value();
  EXPECT_EQ(other->device_names(), (Names{"spare"}));
  EXPECT_EQ(other->warnings.size(), 2U);
}

TEST(GatewaySetup, BackendsAndThePolicysDevices) {
  // Another address for a device of the policy, whose other members stay.
  const auto moved =
      read_setup({policy("model: chat\nidle_ms: 7"), {"gpu0=http://127.0.0.2:9009"}}).value();
  ASSERT_EQ(moved->links.size(), 1U);
  EXPECT_EQ(moved->links[0].upstream.origin(), "http://127.0.0.2:9009");
  EXPECT_EQ(moved->policy.servers[0].model, "chat");
  EXPECT_EQ(moved->links[0].client.idle_ms, 7);
  // Devices without an address are named, those of no row too.
  const auto bare =
      read_setup({policy("model: chat") + "  spare: {model: other}\n  used: {}\n"}).value();
  EXPECT_EQ(bare->device_names(), (Names{"gpu0"}));
  EXPECT_EQ(bare->warnings, (Names{"spare is not a candidate: it has no url",
                                   "used is not a candidate: it has no url"}));
}

TEST(GatewaySetup, NoDevice) {
  check_refused(
      {kOneBit}, ErrorCode::kInvalidRequest,
      "/policy.yaml: no device has a url; give each one under devices, or with --backend");
  check_refused({"{"}, ErrorCode::kInvalidRequest, "route policy: ");
  const base::FixedEnv env{testing::Variables()};
  testing::MemoryFilesystem files;
  EXPECT_EQ(make_setup({"/none", {}, "auto", &env, &files}).error().code, ErrorCode::kIo);
}

TEST(GatewaySetup, TooManyDevices) {
  std::string text = policy("model: chat");
  for (int i = 1; i < 200; ++i) text += "  d" + std::to_string(i) + ": {url: \"http://h:1\"}\n";
  Names backends;
  for (int i = 0; i < 56; ++i) backends.push_back("b" + std::to_string(i) + "=http://h:2");
  EXPECT_EQ(read_setup({text, backends}).value()->links.size(), 256U);
  backends.emplace_back("more=http://h:2");
  check_refused({text, backends}, ErrorCode::kInvalidRequest, "there are more than 256 devices");
}

TEST(GatewaySetup, TheForcedDevice) {
  const Names backends = {"rocm=http://127.0.0.1:9002", "extra=http://127.0.0.1:9003"};
  EXPECT_EQ(read_setup({kOneBit, backends, "extra"}).value()->forced_device, 1U);
  EXPECT_EQ(read_setup({kOneBit, backends, "rocm"}).value()->forced_device, 0U);
  check_refused({kOneBit, backends, "vulkan"}, ErrorCode::kInvalidRequest,
                "--device: 'vulkan' has no url; there are rocm, extra");
  check_refused({kOneBit, backends, "other"}, ErrorCode::kInvalidRequest,
                "--device: 'other' has no url; there are rocm, extra");
}

TEST(GatewaySetup, TimesOfAClient) {
  const auto set = read_setup({policy("connect_ms: 11\nwrite_ms: 12\nfirst_byte_ms: 13\n"
                                      "idle_ms: 14\ntotal_ms: 15")})
                       .value();
  const http::ClientOptions& client = set->links[0].client;
  EXPECT_EQ(client.connect_ms, 11);
  EXPECT_EQ(client.write_ms, 12);
  EXPECT_EQ(client.head_ms, 13);
  EXPECT_EQ(client.idle_ms, 14);
  EXPECT_EQ(client.total_ms, 15);
  // The client has no "none" but for the total: a week is as good.
  constexpr std::int64_t kWeekMs = 604'800'000;
  const auto none =
      read_setup({policy("write_ms: 0\nfirst_byte_ms: 0\nidle_ms: 0\ntotal_ms: 0")}).value();
  EXPECT_EQ(none->links[0].client.write_ms, kWeekMs);
  EXPECT_EQ(none->links[0].client.head_ms, kWeekMs);
  EXPECT_EQ(none->links[0].client.idle_ms, kWeekMs);
  EXPECT_EQ(none->links[0].client.total_ms, 0);
}

// Devices may share connections only where nothing about these differs.
TEST(GatewaySetup, ClientKeys) {
  const auto key = [](const std::string& members) {
    return read_setup({policy(members)}).value()->links[0].client_key;
  };
  const std::string plain = key("model: a");
  EXPECT_EQ(key("model: b\nrequests_max: 3"), plain);
  for (const char* member :
       {"connect_ms: 9", "write_ms: 9", "first_byte_ms: 9", "idle_ms: 9", "total_ms: 9"}) {
    EXPECT_NE(key(member), plain) << member;
  }
  const auto other = read_setup({policy("model: a"), {"gpu0=http://127.0.0.1:9002"}}).value();
  EXPECT_NE(other->links[0].client_key, plain);
  // Members of the same value do not stand for each other.
  EXPECT_NE(key("write_ms: 9\nidle_ms: 10"), key("write_ms: 10\nidle_ms: 9"));
}

TEST(GatewaySetup, Keys) {
  const auto key = [](const SetupParts& parts) {
    return read_setup(parts).value()->links[0].api_key;
  };
  const std::string by_variable = policy("api_key_env: GPU0_KEY");
  const std::string by_file = policy("api_key_file: /gpu0.key");
  EXPECT_EQ(key({policy("model: a")}), "");
  EXPECT_EQ(key({by_variable, {}, "auto", {{"GPU0_KEY", "secret-1"}}}), "secret-1");
  EXPECT_EQ(key({by_file, {}, "auto", {}, {{"/gpu0.key", "secret-2\nmore\n"}}}), "secret-2");
  constexpr ErrorCode kInvalid = ErrorCode::kInvalidRequest;
  check_refused({by_variable}, kInvalid,
                "devices.gpu0.api_key_env: the variable GPU0_KEY is not set");
  check_refused({by_variable, {}, "auto", {{"GPU0_KEY", ""}}}, kInvalid,
                "devices.gpu0.api_key_env: the variable GPU0_KEY is not set");
  check_refused({by_variable, {}, "auto", {{"GPU0_KEY", "secret 3"}}}, kInvalid,
                "devices.gpu0.api_key_env: GPU0_KEY: a key is up to");
  check_refused({by_file}, ErrorCode::kIo, "devices.gpu0.api_key_file: ");
  check_refused({by_file, {}, "auto", {}, {{"/gpu0.key", "\nsecret"}}}, kInvalid,
                "devices.gpu0.api_key_file: /gpu0.key: its first line is empty");
  check_refused({by_file, {}, "auto", {}, {{"/gpu0.key", "secret \xC3\xA9"}}}, kInvalid,
                "devices.gpu0.api_key_file: /gpu0.key: a key is up to");
}

TEST(GatewaySetup, AddressesAreChecked) {
  check_refused({policy("model: a"), {"gpu1=http://127.0.0.1:99999"}}, ErrorCode::kInvalidRequest,
                "devices.gpu1.url: ");
}

TEST(GatewaySetup, AuthoritiesAreRead) {
  const testing::TempDir dir;
  const std::string file = (dir.path() / "ca.pem").string();
  const std::string broken = (dir.path() / "broken.pem").string();
  testing::make_identity({}).write_certificate(file);
  std::ofstream(broken) << "secret\n";
  const auto setup = read_setup({policy("ca_file: " + file)}).value();
  EXPECT_EQ(setup->links[0].tls.ca_file, file);
  EXPECT_NE(setup->links[0].client_key,
            read_setup({policy("model: a")}).value()->links[0].client_key);
  for (const std::string& path : {broken, (dir.path() / "none.pem").string()}) {
    check_refused({policy("ca_file: " + path)}, ErrorCode::kInvalidRequest,
                  "devices.gpu0.ca_file: " + path + " holds no certificate that can be read");
  }
}

TEST(GatewaySetup, TheHashIsOfTheText) {
  const auto hash = [](const std::string& text) { return read_setup({text}).value()->hash; };
  EXPECT_EQ(hash(policy("model: a")), hash(policy("model: a")));
  EXPECT_NE(hash(policy("model: a")), hash(policy("model: a") + "# a remark\n"));
}

}  // namespace
}  // namespace layard::gateway
