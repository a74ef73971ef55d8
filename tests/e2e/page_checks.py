"""What must hold of every page, in a browser and in its sources: texts stay texts, and everybody
can read and use it.
"""

import re

# Shown as markup, these would run code, load something or change the page.
HOSTILE = ["<img src=x onerror=\"window.hit=1\">", "<script>window.hit=1</script>",
           "\"><svg onload=window.hit=1>", "javascript:window.hit=1", "</textarea><b id=hit>",
           "{{constructor.constructor('window.hit=1')()}}", "&lt;b&gt;", "\u202egnp.exe"]

CONTRASTS = """(() => {
  const parse = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255).map(
        v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = element => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    if (element.closest(':disabled, [aria-disabled=true], .unseen, option, svg')) continue;
    const a = light(parse(getComputedStyle(element).color)), b = light(ground(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([ratio.toFixed(2), walker.currentNode.textContent.slice(0, 40)]);
  }
  return found;
})()"""
# The width is given: a page that is too wide makes a phone's own idea of its width grow.
TOO_WIDE = """width => [...document.querySelectorAll('body *')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && (box.right > width + 1 || box.left < -1) &&
      element.checkVisibility() && !element.closest('.scroll, .skip, .unseen, pre');
}).map(element => element.outerHTML.slice(0, 120))"""
TOO_SMALL = """[...document.querySelectorAll('button, input, select, textarea')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && (box.width < 24 || box.height < 24) && element.className !== 'link';
}).map(element => element.outerHTML.slice(0, 120))"""
NAMED_ROLES = {"button", "textbox", "combobox", "tab", "link", "region", "tabpanel", "image",
               "listbox", "Article", "article"}

# What would let a text become markup or code, or need a laxer policy than the server sends.
FORBIDDEN = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|"
                       r"new Function|setAttribute\(.style|DOMParser|createContextualFragment|"
                       r"localStorage|sessionStorage|indexedDB|document\.cookie|"
                       r"https?://(?!www\.w3)")
FORBIDDEN_IN_MARKUP = re.compile(r"<style|\bstyle=|\bon[a-z]+=|<script(?![^>]*\bsrc=)|javascript:")
