/// Tests of permissions: root may read everything, so what they test is done as another user.
#pragma once

#include <unistd.h>

#include <filesystem>

namespace layard::testing {

/// While it exists, a test that root runs has the rights of an ordinary user. Thread-safety: one
/// thread; the whole process changes.
class OrdinaryUser {
 public:
  OrdinaryUser() : was_root_(::geteuid() == 0), is_ordinary_(!was_root_ || become(kUser)) {}
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (was_root_) (void)become(0);
  }

  /// False where the system does not let root become somebody else.
  bool is_ordinary() const { return is_ordinary_; }

 private:
  static constexpr uid_t kUser = 65534;
  static bool become(uid_t user) { return ::seteuid(user) == 0; }

  bool was_root_;
  bool is_ordinary_;
};

/// Takes every right to `path` from everybody while it exists.
class Locked {
 public:
  explicit Locked(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::permissions(path_, std::filesystem::perms::none);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace layard::testing
