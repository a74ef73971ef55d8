// Where reports go.
#include <filesystem>

#include "base/filesystem.h"
#include "layard/evaluation.h"

namespace layard {
namespace {

bool is_folder(const Result<std::optional<base::FileInfo>>& found) {
  return found.ok() && found->has_value() && (*found)->kind == base::FileKind::kFolder;
}

}  // namespace

Status check_report_path(const std::string& path) {
  base::Filesystem& files = base::real_filesystem();
  const auto folder = std::filesystem::path(path).parent_path();
  if (!is_folder(files.stat(folder.empty() ? "." : folder))) {
    return Error{ErrorCode::kIo,
                 "cannot write '" + path + "': there is no folder '" + folder.string() + "'"};
  }
  if (is_folder(files.stat(path))) {
    return Error{ErrorCode::kIo, "cannot write '" + path + "': it is a folder; name a file in it"};
  }
  return {};
}

Status write_report(const std::string& path, std::string_view text) {
  return base::write_atomically(base::real_filesystem(), path, text);
}

}  // namespace layard
