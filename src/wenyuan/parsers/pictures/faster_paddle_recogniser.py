"""The recogniser that comes with the extra `ocr`: PP-OCRv6 models, which the package faster-paddle brings along."""

from __future__ import annotations

import io
import os
from typing import Final

from faster_paddle import OcrEngine
from PIL.Image import Image

from wenyuan.parsers.pictures.recognition import RecognisedLine

_DETECTION_SIDE: Final = 960
"""Lines are looked for at this many pixels and read at all there are: 5 point type of a whole page is still found."""

_LARGE_DETECTION_SIDE: Final = 1600
_LARGE_PICTURE: Final = 3600
"""What is larger than A4 at 300 dots per inch, such as the picture of a large screen, may have smaller type."""

_MOST_THREADS: Final = 2


class FasterPaddleRecogniser:
    """Works offline. Of its models, `small` knows 18,710 characters and `tiny` 6,906."""

    def __init__(self, size: str) -> None:
        self._size = size
        self._engines: dict[int, OcrEngine] = {}

    def recognise(self, picture: Image) -> list[RecognisedLine]:
        encoded = io.BytesIO()
        # The engine takes encoded pictures alone; this encoding costs nothing.
        picture.save(encoded, "BMP")
        engine = self._engine(_LARGE_DETECTION_SIDE if max(picture.size) > _LARGE_PICTURE else _DETECTION_SIDE)
        found = engine.ocr(encoded.getvalue())["bounds"].values()
        return [
            RecognisedLine(line["text"], left, top, right, bottom, line["confidence"])
            for line in found
            for (left, top), (right, bottom) in [(line["topLeftCoord"], line["bottomRightCoord"])]
        ]

    def _engine(self, side: int) -> OcrEngine:
        if side not in self._engines:
            self._engines[side] = OcrEngine(model_size=self._size, threads=_threads(), det_max_side=side)
        return self._engines[side]


def _threads() -> int:
    """Half of the processors: other files are read at the same time."""
    return min(max(1, (os.cpu_count() or 1) // 2), _MOST_THREADS)
