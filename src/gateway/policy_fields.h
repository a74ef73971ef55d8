/// Reads members of a policy's objects: each function leaves its default where the member is
/// absent, and makes a finding where it is not what it must be.
///
/// Every finding here is of kind kStructure: docs/policy.schema.json says the same, and a test
/// compares the two.
/// Thread-safety: one caller at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/policy_findings.h"

namespace layard::gateway {

/// Characters of a device's, class's or evidence's name in a file with `version`.
inline constexpr std::size_t kPolicyNameCharsMax = 64;
/// Characters of other texts there.
inline constexpr std::size_t kPolicyTextCharsMax = 4096;

/// Whether a name can stand in a response header and in a log: letters, digits and `._:/-`, a
/// letter or digit first, at most 64.
bool is_policy_name(std::string_view name);

/// Whether a name can be that of an HTTP header.
bool is_header_name(std::string_view name);

/// Whether a name can be that of an environment variable: letters, digits and `_`, no digit first,
/// at most 128.
bool is_environment_name(std::string_view name);

/// Whether `path` is what stands after the host of an URL: `/`, then at most 1023 characters of a
/// path, without ? and #.
bool is_url_path(std::string_view path);

/// Whether `url` is http:// or https:// with a host and at most a port and a path.
bool is_server_url(std::string_view url);

class PolicyFields {
 public:
  explicit PolicyFields(PolicyFindings& findings) : findings_(findings) {}
  PolicyFindings& findings() { return findings_; }

  /// Whether `node` is there and is an object; a finding where it is something else.
  bool section(const PolicyNode& node);
  /// A structural error at a value.
  void error(const PolicyNode& node, std::string what, std::string fix);
  /// A member that must be there and is not.
  void missing(const PolicyNode& parent, std::string_view key, std::string fix);

  /// `"KEY" must be a number from LOW to HIGH`.
  void number(const PolicyNode& parent, std::string_view key, double low, double high, double& out);
  /// A number without a fraction, from `low` to `high`.
  void whole(const PolicyNode& parent, std::string_view key, std::int64_t low, std::int64_t high,
             std::int64_t& out);
  /// A text of at least one character.
  void text(const PolicyNode& parent, std::string_view key, std::size_t chars_max,
            std::string& out);
  /// A text that is_policy_name.
  void name(const PolicyNode& parent, std::string_view key, std::string& out);
  /// true or false.
  void flag(const PolicyNode& parent, std::string_view key, bool& out);
  /// One of some words; nothing where it is absent or another.
  std::optional<std::size_t> word(const PolicyNode& parent, std::string_view key,
                                  std::initializer_list<std::string_view> words);
  /// A list of texts, at most `count_max`, each of which `is_good` takes.
  void texts(const PolicyNode& parent, std::string_view key, std::size_t count_max,
             bool (*is_good)(std::string_view), std::string_view what,
             std::vector<std::string>& out);
  /// Members that are none of `known`. `strict`: each is an error; else one that is a slip away
  /// from a known one is a warning. Names that start with `x-` are the author's own.
  void unknown(const PolicyNode& object, std::initializer_list<std::string_view> known,
               bool strict);

 private:
  PolicyFindings& findings_;
};

/// No bound on the characters of a text but that of the file.
inline constexpr std::size_t kAnyChars = std::numeric_limits<std::size_t>::max();

}  // namespace layard::gateway
