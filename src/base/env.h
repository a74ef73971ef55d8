/// Environment variables behind an interface: the only place in the project that reads them.
/// It is read when default options are built; nothing below options looks again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace layard::base {

/// Thread-safety: get() may be called from any thread as long as nobody changes the environment.
class Env {
 public:
  virtual ~Env() = default;

  /// The variable's value, or nothing when it is unset.
  virtual std::optional<std::string> get(std::string_view name) const = 0;
  /// The user's home folder where HOME does not say; empty when unknown.
  virtual std::filesystem::path fallback_home() const = 0;

  /// The value, with an empty one taken as unset.
  std::optional<std::string> get_non_empty(std::string_view name) const;
  /// HOME, else fallback_home(); may be empty.
  std::filesystem::path home() const;
  /// `text` with a leading `~` or `~/` replaced by home().
  std::filesystem::path expand_home(std::string_view text) const;
};

/// The process's own environment.
class ProcessEnv final : public Env {
 public:
  std::optional<std::string> get(std::string_view name) const override;
  std::filesystem::path fallback_home() const override;
};

/// A fixed set of variables.
class FixedEnv final : public Env {
 public:
  explicit FixedEnv(std::map<std::string, std::string, std::less<>> values)
      : values_(std::move(values)) {}
  std::optional<std::string> get(std::string_view name) const override;
  std::filesystem::path fallback_home() const override { return {}; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Whether `value` switches something on: 1, ON, YES or TRUE in any case.
/// Source: huggingface_hub constants (ENV_VARS_TRUE_VALUES).
bool is_true_value(std::string_view value);

/// Whether `value` switches something off: 0, OFF, NO or FALSE in any case.
bool is_false_value(std::string_view value);

}  // namespace layard::base
