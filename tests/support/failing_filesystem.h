/// A base::Filesystem that lets one chosen operation fail, to walk through every failure point:
/// run the code with fail_at = 1, 2, 3, ... until failed() stays false.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/filesystem.h"

namespace layard::testing {

/// Counts every operation, also those of writers. Syncs are counted but not passed on: a test's
/// files need not survive a power cut, and there are hundreds. Thread-safe as far as `inner` is.
class FailingFilesystem final : public base::Filesystem {
 public:
  using Path = std::filesystem::path;

  explicit FailingFilesystem(base::Filesystem& inner) : inner_(inner) {}

  /// The operation that fails next, counted from 1; 0 lets all succeed. Starts the count again.
  void fail_at(int operation) {
    fail_at_ = operation;
    count_ = 0;
  }
  /// Whether that operation was reached.
  bool failed() const { return fail_at_ != 0 && count_ >= fail_at_; }

  Result<std::optional<base::FileInfo>> stat(const Path& path) override {
    LAYARD_TRY(step("stat", path));
    return inner_.stat(path);
  }
  Result<std::optional<base::FileInfo>> link_stat(const Path& path) override {
    LAYARD_TRY(step("link_stat", path));
    return inner_.link_stat(path);
  }
  Result<Path> canonical(const Path& path) override {
    LAYARD_TRY(step("canonical", path));
    return inner_.canonical(path);
  }
  Result<std::string> read_text(const Path& path, std::uint64_t bytes_max) override {
    LAYARD_TRY(step("read_text", path));
    return inner_.read_text(path, bytes_max);
  }
  Result<std::string> read_private_text(const Path& path, std::uint64_t bytes_max) override {
    LAYARD_TRY(step("read_private_text", path));
    return inner_.read_private_text(path, bytes_max);
  }
  Result<std::vector<std::string>> list(const Path& folder) override {
    LAYARD_TRY(step("list", folder));
    return inner_.list(folder);
  }
  Result<std::unique_ptr<base::FileWriter>> create(const Path& path) override {
    LAYARD_TRY(step("create", path));
    return wrap(inner_.create(path), path);
  }
  Result<std::unique_ptr<base::FileWriter>> create_private(const Path& path) override {
    LAYARD_TRY(step("create_private", path));
    return wrap(inner_.create_private(path), path);
  }
  Result<std::unique_ptr<base::FileWriter>> open_append(const Path& path) override {
    LAYARD_TRY(step("open_append", path));
    return wrap(inner_.open_append(path), path);
  }
  Status make_folders(const Path& folder) override {
    LAYARD_TRY(step("make_folders", folder));
    return inner_.make_folders(folder);
  }
  Status make_private_folder(const Path& folder) override {
    LAYARD_TRY(step("make_private_folder", folder));
    return inner_.make_private_folder(folder);
  }
  Status rename(const Path& from, const Path& to) override {
    LAYARD_TRY(step("rename", to));
    return inner_.rename(from, to);
  }
  Status make_link(const Path& target, const Path& link) override {
    LAYARD_TRY(step("make_link", link));
    return inner_.make_link(target, link);
  }
  Status remove(const Path& path) override {
    LAYARD_TRY(step("remove", path));
    return inner_.remove(path);
  }
  Status sync_folder(const Path& folder) override { return step("sync_folder", folder); }
  Result<std::uint64_t> free_bytes(const Path& folder) override {
    LAYARD_TRY(step("free_bytes", folder));
    return inner_.free_bytes(folder);
  }
  Result<std::unique_ptr<base::FileLock>> try_lock(const Path& path) override {
    LAYARD_TRY(step("try_lock", path));
    return inner_.try_lock(path);
  }

 private:
  class Writer final : public base::FileWriter {
   public:
    Writer(FailingFilesystem& files, std::unique_ptr<base::FileWriter> inner, Path path)
        : files_(files), inner_(std::move(inner)), path_(std::move(path)) {}
    Status write(std::span<const std::byte> bytes) override {
      // A full disk takes part of what it is given.
      const Status allowed = files_.step("write", path_);
      if (!allowed.ok()) LAYARD_TRY(inner_->write(bytes.first(bytes.size() / 2)));
      LAYARD_TRY(allowed);
      return inner_->write(bytes);
    }
    Status sync() override { return files_.step("sync", path_); }
    Status close() override {
      LAYARD_TRY(files_.step("close", path_));
      return inner_->close();
    }

   private:
    FailingFilesystem& files_;
    std::unique_ptr<base::FileWriter> inner_;
    Path path_;
  };

  Status step(const std::string& operation, const Path& path) {
    if (++count_ != fail_at_) return {};
    return Error{ErrorCode::kIo, "injected failure of " + operation + " '" + path.string() + "'"};
  }
  Result<std::unique_ptr<base::FileWriter>> wrap(Result<std::unique_ptr<base::FileWriter>> writer,
                                                 const Path& path) {
    if (!writer.ok()) return writer;
    return std::unique_ptr<base::FileWriter>(
        std::make_unique<Writer>(*this, *std::move(writer), path));
  }

  base::Filesystem& inner_;
  std::atomic<int> count_{0};
  std::atomic<int> fail_at_{0};
};

}  // namespace layard::testing
