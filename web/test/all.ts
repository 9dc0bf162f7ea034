import "./axis.test";
import "./place.test";
