/// A text cut into pieces: what passes from stage to stage.
/// Source: tokenizers 0.23 (tokenizer/pre_tokenizer.rs, PreTokenizedString without offsets).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layard::tokenizer {

/// A range of the text, or an added token that is done.
struct Piece {
  static constexpr std::int32_t kText = -1;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int32_t id = kText;

  bool is_text() const noexcept { return id == kText; }
};

/// Pieces in order. A stage that only cuts replaces the pieces; one that changes the text too
/// writes a new text and moves it in. No text piece is empty.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : view_(text) {}
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  std::string_view text() const noexcept { return view_; }
  std::string_view text_of(const Piece& piece) const noexcept {
    return view_.substr(piece.begin, piece.end - piece.begin);
  }
  const std::vector<Piece>& list() const noexcept { return list_; }

  /// Adds a text piece unless it is empty.
  void add_text(std::size_t begin, std::size_t end) {
    if (begin < end) list_.push_back({begin, end, Piece::kText});
  }
  void add_token(std::size_t begin, std::size_t end, std::int32_t id) {
    list_.push_back({begin, end, id});
  }

  /// Replaces every text piece by what `cut(begin, end)` adds through add_text and add_token.
  template <class Cut>
  void recut(Cut cut) {
    std::vector<Piece> before;
    before.swap(list_);
    list_.reserve(before.size());
    for (const Piece& piece : before) {
      if (piece.is_text()) {
        cut(piece.begin, piece.end);
      } else {
        list_.push_back(piece);
      }
    }
  }

  /// Writes a new text: `rewrite(piece text, out)` appends each text piece's new form. Tokens keep
  /// only their ids.
  template <class Rewrite>
  void rewrite(Rewrite rewrite_piece) {
    std::string out;
    out.reserve(view_.size() + view_.size() / 8 + 16);
    std::vector<Piece> before;
    before.swap(list_);
    list_.reserve(before.size());
    for (const Piece& piece : before) {
      const std::size_t begin = out.size();
      if (piece.is_text()) {
        rewrite_piece(text_of(piece), out);
        add_text(begin, out.size());
      } else {
        add_token(begin, begin, piece.id);
      }
    }
    storage_ = std::move(out);
    view_ = storage_;
  }

 private:
  std::string storage_;
  std::string_view view_;
  std::vector<Piece> list_;
};

}  // namespace layard::tokenizer
