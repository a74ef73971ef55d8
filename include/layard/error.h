/// Errors as values: the codes every room, the CLI, the C ABI and HTTP share, and Result<T>.
/// Thread-safety: all types here are plain values.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "layard/export.h"

namespace layard {

/// One enumerator per condition a caller can act on. The order is the order of error_table();
/// names, HTTP and exit codes live there and in docs/errors.md.
enum class ErrorCode : unsigned char {
  kUnsupportedModel,
  kInvalidRequest,
  kUnsupportedShape,
  kBackendUnavailable,
  kArtifact,
  kArtifactMissing,
  kArtifactRevision,
  kArtifactIntegrity,
  kArtifactParity,
  kComputeUnitMismatch,
  kOverloaded,
  kCancelled,
  kIo,
  kInternal,
};

/// What one code is called everywhere. http_status is what a server answers, exit_code what the
/// CLI returns, c_status what the C ABI returns; remedy is the general advice for a user.
struct ErrorInfo {
  ErrorCode code;
  std::string_view type_name;
  int http_status;
  int exit_code;
  int c_status;
  std::string_view remedy;
};

/// The one table: exactly one row per ErrorCode, in enumerator order.
LAYARD_EXPORT std::span<const ErrorInfo> error_table();

/// The row of `code`.
LAYARD_EXPORT const ErrorInfo& error_info(ErrorCode code);

/// `InvalidRequestError`, `IoError`, ...
inline std::string_view error_type_name(ErrorCode code) { return error_info(code).type_name; }

/// A failed call: the code to branch on and a text that says what was asked, what was found and
/// what to do. The text never holds a user's texts or secrets beyond the names of fields.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

/// Thrown only by Result<T>::value(), for callers who like exceptions; the library never throws it.
class LAYARD_EXPORT Exception : public std::runtime_error {
 public:
  explicit Exception(Error error)
      : std::runtime_error(std::string(error_type_name(error.code)) + ": " + error.message),
        error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// Either a T or an Error. Move-only when T is.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(implicit)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(implicit)

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// REQUIRES: ok().
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  /// REQUIRES: !ok().
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

  /// The value, or throws Exception.
  T& value() & {
    if (!ok()) throw Exception(error());
    return **this;
  }
  const T& value() const& {
    if (!ok()) throw Exception(error());
    return **this;
  }
  T&& value() && {
    if (!ok()) throw Exception(error());
    return std::move(**this);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(implicit)

  bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }
  void value() const {
    if (!ok_) throw Exception(error_);
  }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace layard

#define LAYARD_CONCAT_IMPL(a, b) a##b
#define LAYARD_CONCAT(a, b) LAYARD_CONCAT_IMPL(a, b)

/// Returns the error of `expr` (a Result) from the enclosing function, else goes on.
#define LAYARD_TRY(expr)                                                      \
  do {                                                                        \
    auto layard_try_result = (expr);                                          \
    if (!layard_try_result.ok()) return std::move(layard_try_result).error(); \
  } while (false)

/// `LAYARD_ASSIGN(auto x, f());` declares x from f()'s value or returns f()'s error.
#define LAYARD_ASSIGN(lhs, expr) \
  LAYARD_ASSIGN_IMPL(LAYARD_CONCAT(layard_result_, __COUNTER__), lhs, expr)
#define LAYARD_ASSIGN_IMPL(name, lhs, expr)       \
  auto name = (expr);                             \
  if (!name.ok()) return std::move(name).error(); \
  lhs = *std::move(name)
