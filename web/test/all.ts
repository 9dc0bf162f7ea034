import "./axis.test";
import "./lines.test";
import "./place.test";
import "./words.test";
